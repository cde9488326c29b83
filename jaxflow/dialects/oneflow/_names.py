"""The names OneFlow documents, by namespace: what this dialect offers, or says that it lacks."""

NAMES: dict[str, tuple[str, ...]] = {
    namespace: tuple(names.split())
    for namespace, names in {
        "": """
        BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor Generator
        HalfTensor IntTensor LongTensor Size Tensor abs acos acosh adaptive_avg_pool1d
        adaptive_avg_pool2d adaptive_avg_pool3d add addcdiv addcmul addmm all allclose amax amin amp
        any arange arccos arccosh arcsin arcsinh arctan arctanh argmax argmin argsort argwhere
        as_strided as_tensor asin asinh atan atan2 atanh atleast_1d atleast_2d atleast_3d autograd
        backends baddbmm batch_gather bernoulli bfloat16 bincount bitwise_and bitwise_not bitwise_or
        bitwise_xor bmm broadcast_like broadcast_shapes broadcast_tensors broadcast_to cast cat
        cdouble ceil ceil_ cfloat channels_last chunk clamp clamp_max clamp_min clip clone
        column_stack complex128 complex64 concat conj conj_physical contiguous contiguous_format cos
        cosh cross cuda cumprod cumsum deform_conv2d det device diag diagonal distributed
        distributions div dot double dstack dtype e einsum empty empty_like empty_strided
        enable_grad env eq equal erf erfc erfinv exp expand expm1 eye fft finfo flatten flip float
        float16 float32 float64 floor floor_ floor_divide fmod frac frac_ from_dlpack from_numpy
        full full_like gather gather_nd ge gelu get_default_dtype get_rng_state greater
        greater_equal gt half hann_window hsplit hstack hub iinfo imag in_top_k index_add
        index_select inf inference_mode initial_seed int int16 int32 int64 int8 inverse
        is_floating_point is_grad_enabled is_nonzero is_tensor isclose isfinite isinf isnan jit
        layout le lerp lerp_ lgamma linalg linspace load log log10 log1p log2 logaddexp logical_and
        logical_not logical_or logical_xor logspace logsumexp long lt manual_seed masked_fill
        masked_fill_ masked_select matmul max maximum mean median memory_format meshgrid min minimum
        mish mm mode movedim mul multinomial mv nan nansum narrow ne neg negative new_empty new_full
        new_ones new_zeros newaxis nms nn no_grad nonzero norm normal normal_ not_equal numel ones
        ones_like optim pad permute pi placement pow preserve_format prod quantile quick_gelu rand
        randint randint_like randn randn_like randperm real reciprocal repeat repeat_interleave
        reshape roc_auc_score roi_align roll round round_ row_stack rsqrt save sbp scatter
        scatter_add scatter_nd searchsorted seed select selu set_default_dtype
        set_default_tensor_type set_grad_enabled set_num_threads set_printoptions set_rng_state
        short sigmoid sign silu sin sin_ sinh slice slice_update softmax softplus softsign sort
        special split sqrt square square_relu squeeze stack std stft strided sub sum swapaxes
        swapdims t tan tanh tensor tensor_scatter_nd_update tensor_split tensordot threshold tile
        to_dlpack topk transpose tril triu trunc uint8 unbind unique unsqueeze utils var version
        view vsplit vstack where zero_ zeros zeros_like
        """,
        "Tensor": """
        T abs acos acosh add add_ addcdiv addcdiv_ addcmul addcmul_ addmm all allclose amax amin any
        arccos arccosh arcsin arcsinh arctan arctanh argmax argmin argsort argwhere as_strided
        as_strided_ asin asinh atan atan2 atanh backward baddbmm bernoulli bernoulli_ bincount
        bitwise_and bitwise_or bitwise_xor bmm bool broadcast_to byte cast ceil ceil_ chunk clamp
        clamp_ clip clip_ clone contiguous copy_ cos cosh cpu cross cuda cumprod cumsum data detach
        device diag diagonal digamma dim div div_ dot double dtype element_size eq equal erf erfc
        erfinv erfinv_ exp exp2 expand expand_as expm1 fill_ flatten flip float floor floor_
        floor_divide fmod frac frac_ gather ge get_device global_to_global grad grad_fn gt gt_ half
        in_top_k index_add index_add_ index_select int inverse is_contiguous is_cuda
        is_floating_point is_global is_lazy is_leaf is_offloaded is_pinned isclose isinf isnan item
        le lerp lerp_ load local_to_global log log10 log1p log2 logical_and logical_not logical_or
        logical_xor logsumexp long lt masked_fill masked_fill_ masked_select matmul max maximum mean
        median min minimum mish mm mode mul mul_ mv nansum narrow ndim ndimension ne neg negative
        nelement new_empty new_full new_ones new_tensor new_zeros nms nonzero norm normal_ numel
        numpy offload permute pin_memory placement pow prod quantile reciprocal register_hook relu
        repeat repeat_interleave requires_grad requires_grad_ reshape reshape_as retain_grad roll
        round round_ rsqrt sbp scatter scatter_ scatter_add scatter_add_ selu shape sigmoid sign
        silu sin sin_ sinh size softmax softplus softsign sort split sqrt square squeeze squeeze_
        std storage_offset stride sub sub_ sum swapaxes swapdims t tan tanh tile to to_consistent
        to_global to_local tolist topk transpose tril triu trunc type type_as unbind unfold uniform_
        unique unsqueeze unsqueeze_ var view view_as where zero_
        """,
        "nn": """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
        AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d
        BatchNorm2d BatchNorm3d Bilinear CELU COCOReader CTCLoss CoinFlip CombinedMarginLoss
        ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d ConvTranspose1d
        ConvTranspose2d ConvTranspose3d CosineSimilarity CropMirrorNormalize CrossEntropyLoss
        Dropout Dropout1d Dropout2d Dropout3d ELU Embedding FakeQuantization Flatten Fold
        FusedBatchNorm1d FusedBatchNorm2d FusedBatchNorm3d GELU GLU GRU GRUCell GroupNorm Hardshrink
        Hardsigmoid Hardswish Hardtanh Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d
        KLDivLoss L1Loss LSTM LSTMCell LayerNorm LeakyReLU Linear LogSigmoid LogSoftmax MSELoss
        MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d
        MinMaxObserver Mish Module ModuleDict ModuleList MovingAverageMinMaxObserver
        MultiheadAttention NLLLoss OFRecordBytesDecoder OFRecordImageDecoder
        OFRecordImageDecoderRandomCrop OFRecordRawDecoder OFRecordReader PReLU PairwiseDistance
        Parameter ParameterDict ParameterList PixelShuffle QatConv1d QatConv2d QatConv3d
        Quantization QuickGELU RMSLayerNorm RMSNorm RNN RNNCell ReLU ReLU6 ReflectionPad1d
        ReflectionPad2d ReplicationPad1d ReplicationPad2d SELU Sequential SiLU Sigmoid SmoothL1Loss
        Softmax Softplus Softshrink Softsign SquareReLU SyncBatchNorm Tanh Threshold
        TripletMarginLoss Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad2d
        functional init modules utils
        """,
        "nn.functional": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d affine_grid avg_pool1d avg_pool2d avg_pool3d
        batch_norm binary_cross_entropy binary_cross_entropy_with_logits celu conv1d conv2d conv3d
        conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity cross_entropy
        ctc_greedy_decoder ctc_loss deform_conv2d dropout dropout1d dropout2d dropout3d elu
        embedding fold gelu glu grid_sample group_norm gumbel_softmax hardshrink hardsigmoid
        hardswish hardtanh interpolate l1_loss layer_norm leaky_relu linear log_softmax logsigmoid
        max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mish mse_loss
        normalize one_hot pad pairwise_distance prelu quick_gelu relu relu6 selu sigmoid silu
        smooth_l1_loss softmax softplus softshrink softsign sparse_softmax_cross_entropy square_relu
        tanh threshold triplet_margin_loss unfold upsample
        """,
        "nn.init": """
        calculate_gain constant_ eye_ kaiming_normal_ kaiming_uniform_ normal_ ones_ orthogonal_
        trunc_normal_ uniform_ xavier_normal_ xavier_uniform_ zeros_
        """,
        "nn.utils": """
        clip_grad_norm_ clip_grad_value_ parameters_to_vector remove_weight_norm rnn
        vector_to_parameters weight_norm
        """,
        "optim": """
        Adadelta Adagrad Adam AdamW LAMB LBFGS Optimizer RMSprop SGD lr_scheduler
        """,
        "optim.lr_scheduler": """
        ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CosineDecayLR
        ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR MultiplicativeLR PolynomialLR
        ReduceLROnPlateau SequentialLR StepLR WarmUpLR
        """,
        "autograd.functional": """
        hessian hvp jacobian jvp vhp vjp
        """,
        "autograd.graph": """
        save_on_cpu saved_tensors_hooks
        """,
        "utils.data": """
        BatchSampler ChainDataset ConcatDataset DataLoader Dataset IterableDataset RandomSampler
        Sampler SequentialSampler Subset SubsetRandomSampler TensorDataset WeightedRandomSampler
        default_collate default_convert get_worker_info random_split
        """,
        "linalg": """
        cross det diagonal inv matrix_norm norm vector_norm
        """,
        "special": """
        digamma erf erfc erfinv exp2 expm1 log1p log_softmax logsumexp round softmax zeta
        """,
    }.items()
}
