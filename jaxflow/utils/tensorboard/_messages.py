"""The messages of event files and of TensorBoard's plugins.

The numbers of fields are those of TensorBoard's published `.proto` files (github.com/tensorflow/tensorboard:
tensorboard/compat/proto and tensorboard/plugins).
"""

from __future__ import annotations

from ._wire import Field, Message


def _message(name: str, rows: str) -> type[Message]:
    """A class of messages from rows of ``field number kind``.

    ``*`` after the kind is a list, ``?`` a member of a ``oneof``.
    """
    fields = {}
    for row in rows.split(","):
        field, number, kind = row.split()
        fields[field] = Field(int(number), kind.rstrip("*?"), kind.endswith("*"), kind.endswith("?"))
    return type(name, (Message,), {"FIELDS": fields, "__module__": __name__})


SourceMetadata = _message("SourceMetadata", "writer 1 string")
SessionLog = _message("SessionLog", "status 1 int32, checkpoint_path 2 string, msg 3 string")
SessionLog.START = 1
Event = _message("Event", "wall_time 1 double, step 2 int64, file_version 3 string?, graph_def 4 bytes?, "
                          "summary 5 message?, session_log 7 message?, source_metadata 10 message")

PluginData = _message("PluginData", "plugin_name 1 string, content 2 bytes")
SummaryMetadata = _message("SummaryMetadata", "plugin_data 1 message, display_name 2 string, "
                                              "summary_description 3 string, data_class 4 int32")
SummaryMetadata.PluginData = PluginData
HistogramProto = _message("HistogramProto", "min 1 double, max 2 double, num 3 double, sum 4 double, "
                                            "sum_squares 5 double, bucket_limit 6 double*, bucket 7 double*")
Dim = _message("Dim", "size 1 int64, name 2 string")
TensorShapeProto = _message("TensorShapeProto", "dim 2 message*, unknown_rank 3 bool")
TensorShapeProto.Dim = Dim
TensorProto = _message("TensorProto", "dtype 1 int32, tensor_shape 2 message, version_number 3 int32, "
                       "tensor_content 4 bytes, float_val 5 float*, double_val 6 double*, int_val 7 int32*, "
                       "string_val 8 bytes*, scomplex_val 9 float*, int64_val 10 int64*, bool_val 11 bool*, "
                       "dcomplex_val 12 double*, half_val 13 int32*, uint32_val 16 uint32*")

Summary = _message("Summary", "value 1 message*")
Summary.Image = _message("Image", "height 1 int32, width 2 int32, colorspace 3 int32, "
                                  "encoded_image_string 4 bytes")
Summary.Audio = _message("Audio", "sample_rate 1 float, num_channels 2 int64, length_frames 3 int64, "
                                  "encoded_audio_string 4 bytes, content_type 5 string")
Summary.Value = _message("Value", "tag 1 string, simple_value 2 float?, image 4 message?, histo 5 message?, "
                                  "audio 6 message?, node_name 7 string, tensor 8 message?, "
                                  "metadata 9 message")

TextPluginData = _message("TextPluginData", "version 1 int32")
PrCurvePluginData = _message("PrCurvePluginData", "version 1 int32, num_thresholds 2 uint32")
MeshPluginData = _message("MeshPluginData", "version 1 int32, name 2 string, content_type 3 int32, "
                                            "json_config 5 string, shape 6 int32*, components 7 uint32")

Series = _message("Series", "value 1 string, lower 2 string, upper 3 string")
MarginChartContent = _message("MarginChartContent", "series 1 message*")
MultilineChartContent = _message("MultilineChartContent", "tag 1 string*")
Chart = _message("Chart", "title 1 string, multiline 2 message?, margin 3 message?")
Category = _message("Category", "title 1 string, chart 2 message*, closed 3 bool")
Layout = _message("Layout", "version 1 int32, category 2 message*")

ListValue = _message("ListValue", "values 1 message*")
#: A value of ``google.protobuf.Struct``.
StructValue = _message("StructValue", "number_value 2 double?, string_value 3 string?, bool_value 4 bool?")
HParamInfo = _message("HParamInfo",
                      "name 1 string, display_name 2 string, description 3 string, type 4 int32, "
                                    "domain_discrete 5 message?")
MetricName = _message("MetricName", "group 1 string, tag 2 string")
MetricInfo = _message("MetricInfo", "name 1 message, display_name 3 string, description 4 string")
Experiment = _message("Experiment", "description 1 string, user 2 string, time_created_secs 3 double, "
                                    "hparam_infos 4 message*, metric_infos 5 message*, name 6 string")
HparamsEntry = _message("HparamsEntry", "key 1 string?, value 2 message")
SessionStartInfo = _message("SessionStartInfo", "hparams 1 message*, model_uri 2 string, "
                                                "monitor_url 3 string, group_name 4 string, "
                                                "start_time_secs 5 double")
SessionEndInfo = _message("SessionEndInfo", "status 1 int32, end_time_secs 2 double")
HParamsPluginData = _message("HParamsPluginData", "version 1 int32, experiment 2 message?, "
                                                  "session_start_info 3 message?, "
                                                  "session_end_info 4 message?")

SpriteMetadata = _message("SpriteMetadata", "image_path 1 string, single_image_dim 2 uint32*")
EmbeddingInfo = _message("EmbeddingInfo", "tensor_name 1 string, metadata_path 2 string, sprite 5 message, "
                                          "tensor_path 6 string")
ProjectorConfig = _message("ProjectorConfig", "embeddings 2 message*")
