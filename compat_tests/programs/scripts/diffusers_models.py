"""Schedulers, networks and a pipeline of diffusers with small configurations."""

import warnings

import diffusers
import torch
from diffusers.training_utils import EMAModel
from fixed import fill, integers, normal

warnings.filterwarnings("ignore")
BLOCKS = {"sample_size": 8, "layers_per_block": 1, "block_out_channels": (16, 32), "norm_num_groups": 8}
ATTENTION = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
             "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}
CROSS = {"down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
         "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"), "cross_attention_dim": 16,
         "attention_head_dim": 4}
JOINT = {"joint_attention_dim": 16, "pooled_projection_dim": 8, "num_attention_heads": 2, "in_channels": 4}
#: Schedulers whose steps draw nothing, and those that draw.
FIXED = """DDIM PNDM EulerDiscrete HeunDiscrete LMSDiscrete DPMSolverMultistep DPMSolverSinglestep
    UniPCMultistep DEISMultistep KDPM2Discrete FlowMatchEulerDiscrete""".split()
DRAWING = ["DDPM", "LCM", "EulerAncestralDiscrete"]


def schedulers():
    for name in FIXED + DRAWING:
        scheduler = getattr(diffusers, f"{name}Scheduler")()
        scheduler.set_timesteps(5)
        x = normal(1, 3, 8, 8) * float(getattr(scheduler, "init_noise_sigma", 1.0))
        for time in scheduler.timesteps:
            scaled = scheduler.scale_model_input(x, time) if hasattr(scheduler, "scale_model_input") else x
            x = scheduler.step(scaled * 0.1, time, x).prev_sample
        print(name, f"{x.abs().mean().item():.3f}" if name in FIXED else tuple(x.shape))


def training():
    """Three steps that predict noise, with an average of the weights."""
    net = fill(diffusers.UNet2DModel(in_channels=3, out_channels=3, **BLOCKS, **ATTENTION))
    scheduler, average = diffusers.DDPMScheduler(), EMAModel(net.parameters())
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    for seed in range(3):
        noise, times = normal(2, 3, 8, 8, seed=seed), integers(1000, 2)
        noisy = scheduler.add_noise(normal(2, 3, 8, 8, seed=9), noise, times)
        loss = torch.nn.functional.mse_loss(net(noisy, times).sample, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        average.step(net.parameters())
        print(f"{loss.item():.4f}")
    net.save_pretrained("unet")
    again = diffusers.UNet2DModel.from_pretrained("unet")
    print(torch.allclose(net(noisy, times).sample, again(noisy, times).sample, atol=1e-4))
    average.copy_to(net.parameters())
    print(f"{net(noisy, times).sample.abs().mean().item():.4f}")


def networks():
    """The forward pass of networks with conditions, of an autoencoder and of transformers."""
    times, words = integers(1000, 2), normal(2, 5, 16)
    image, pooled = normal(2, 4, 8, 8), normal(2, 8)
    made = {
        "unet": (diffusers.UNet2DConditionModel(in_channels=4, out_channels=4, **BLOCKS, **CROSS),
                 (image, times, words), {}),
        "dit": (diffusers.DiTTransformer2DModel(num_attention_heads=2, attention_head_dim=8, in_channels=4,
                                                num_layers=2, sample_size=8, patch_size=2, norm_num_groups=4),
                (image,), {"timestep": times, "class_labels": torch.tensor([1, 2])}),
        "sd3": (diffusers.SD3Transformer2DModel(sample_size=8, patch_size=2, num_layers=2, out_channels=4,
                                                attention_head_dim=8, caption_projection_dim=16, **JOINT),
                (image, words, pooled, times), {}),
        "flux": (diffusers.FluxTransformer2DModel(patch_size=1, num_layers=1, num_single_layers=1,
                                                  attention_head_dim=16, axes_dims_rope=(4, 4, 8), **JOINT),
                 (normal(2, 6, 4), words, pooled, times / 1000, torch.zeros(6, 3), torch.zeros(5, 3)), {}),
    }
    for name, (net, arguments, options) in made.items():
        print(name, f"{fill(net).eval()(*arguments, **options).sample.abs().mean().item():.4f}")
    coder = fill(diffusers.AutoencoderKL(
        block_out_channels=(16, 32), norm_num_groups=8, down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=4))
    found = coder.encode(normal(1, 3, 16, 16)).latent_dist
    print(f"{found.mode().abs().mean().item():.4f}", tuple(coder.decode(found.mode()).sample.shape))


def pipeline():
    """Images from noise, and the pipeline saved and loaded."""
    net = fill(diffusers.UNet2DModel(in_channels=3, out_channels=3, **BLOCKS, **ATTENTION))
    made = diffusers.DDPMPipeline(net, diffusers.DDPMScheduler())
    made.set_progress_bar_config(disable=True)
    drawn = made(num_inference_steps=3, output_type="np", generator=torch.Generator().manual_seed(0))
    print(drawn.images.shape)
    made.save_pretrained("pipeline")
    print(type(diffusers.DDPMPipeline.from_pretrained("pipeline")).__name__)


for use in (schedulers, training, networks, pipeline):
    print(use.__name__, flush=True)
    use()
