"""``SummaryWriter``, and ``FileWriter`` under it."""

from __future__ import annotations

import datetime
import os
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from ._convert_np import make_np
from ._embedding import get_embedding_info, make_mat, make_sprite, make_tsv, write_pbtxt
from ._histogram import default_bins
from ._image import figure_to_image
from ._messages import Event, ProjectorConfig, SessionLog
from .event_file_writer import EventFileWriter
from .summary import (
    audio,
    custom_scalars,
    histogram,
    histogram_raw,
    hparams,
    image,
    image_boxes,
    mesh,
    pr_curve,
    pr_curve_raw,
    scalar,
    tensor_proto,
    text,
    video,
)

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Appends summaries and events to an event file that it makes in a folder.

    Args:
        log_dir: the folder.
        max_queue: without effect: each event is in the file when the call that adds it returns.
        flush_secs: without effect.
        filename_suffix: what the file's name ends with.

    Example:
        >>> import tempfile
        >>> from jaxflow.utils.tensorboard import FileWriter
        >>> from jaxflow.utils.tensorboard.summary import scalar
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer = FileWriter(folder)
        ...     writer.add_summary(scalar("loss", 0.5), global_step=1)
        ...     writer.close()
    """

    def __init__(self, log_dir: str | os.PathLike, max_queue: int = 10, flush_secs: float = 120,
                 filename_suffix: str = "") -> None:
        self._given = (str(log_dir), max_queue, flush_secs, filename_suffix)
        self._closed = False
        self.event_writer = EventFileWriter(*self._given)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Append an event, after its time and its step are set.

        Args:
            event: a message ``Event``, of this package or of ``tensorboard``.
            step: the step; None to leave it.
            walltime: seconds since 1970; None for now.
        """
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None,
                    walltime: float | None = None) -> None:
        """Append an event with a summary: see `add_event`."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> NoReturn:
        """NotImplementedError: there is no graph of a module."""
        _refuse_graph("FileWriter.add_graph")

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> NoReturn:
        """NotImplementedError: there is no graph of a module."""
        _refuse_graph("FileWriter.add_onnx_graph")

    def flush(self) -> None:
        """Nothing waits to be written. OSError where the file is closed."""
        self.event_writer.flush()

    def close(self) -> None:
        """Close the file."""
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """Make a new file in the same folder where this writer is closed."""
        if self._closed:
            self.event_writer = EventFileWriter(*self._given)
            self._closed = False


def _refuse_graph(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.utils.tensorboard: {name} is not supported: there is no graph of a module here. Leave the "
        "call out; writer.add_text(tag, str(model)) shows the layers, and jax.profiler.trace(log_dir) writes "
        "what XLA runs for TensorBoard.")


class SummaryWriter:
    """Writes numbers, images, text and more of a run to a folder that TensorBoard shows.

    The file has TensorBoard's format, which is written here: the package ``tensorboard`` is only needed to
    look at it. Each entry is in the file when the call that adds it returns.

    Args:
        log_dir: the folder of the run; default ``runs/<date>_<host>`` with ``comment`` behind.
        comment: what the default folder's name ends with.
        purge_step: the step at which a run goes on after a crash: TensorBoard hides what was written for it
            and later ones before.
        max_queue: without effect.
        flush_secs: without effect.
        filename_suffix: what the names of files end with.

    Example:
        >>> import tempfile
        >>> from jaxflow.utils.tensorboard import SummaryWriter
        >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss", torch.tensor(1.0) / (step + 1), step)
    """

    def __init__(self, log_dir: str | os.PathLike | None = None, comment: str = "",
                 purge_step: int | None = None, max_queue: int = 10, flush_secs: float = 120,
                 filename_suffix: str = "") -> None:
        if not log_dir:
            now = datetime.datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.default_bins = default_bins()
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._projector_config = ProjectorConfig()
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The writer of the run's own file; a new one after `close`."""
        if self.all_writers is None or self.file_writer is None:
            writer = self._made(self.log_dir)
            if self.purge_step is not None:
                writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                writer.add_event(Event(step=self.purge_step, session_log=SessionLog(status=SessionLog.START)))
                self.purge_step = None
            self.all_writers = {writer.get_logdir(): writer}
            self.file_writer = writer
        return self.file_writer

    def _made(self, folder: str | os.PathLike) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def get_logdir(self) -> str:
        """The folder of the run."""
        return self.log_dir

    def _add(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def add_hparams(self, hparam_dict: dict, metric_dict: dict, hparam_domain_discrete: dict | None = None,
                    run_name: str | None = None, global_step: int | None = None) -> None:
        """Add the parameters of a run and its figures, in a folder of their own under the run's.

        Args:
            hparam_dict: numbers, strings and truth values by name.
            metric_dict: figures by tag.
            hparam_domain_discrete: by name, a list of all values that a parameter may have.
            run_name: the folder's name; default the time.
            global_step: the step of the figures.

        Raises:
            TypeError: for what is no dict.
            ValueError: for a parameter of another type.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        summaries = hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for summary in summaries:
                writer._add(summary, global_step)
            for tag, value in metric_dict.items():
                writer.add_scalar(tag, value, global_step)

    def add_scalar(self, tag: str, scalar_value: Any, global_step: int | None = None,
                   walltime: float | None = None, new_style: bool = False,
                   double_precision: bool = False) -> None:
        """Add a number.

        Args:
            tag: its name.
            scalar_value: a number, or an array or a tensor of one element.
            global_step: the step.
            walltime: seconds since 1970; default now.
            new_style: whether it is stored as a tensor.
            double_precision: whether such a tensor is of doubles.

        Raises:
            AssertionError: for more than one element.
        """
        self._add(scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision),
                  global_step, walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: int | None = None,
                    walltime: float | None = None) -> None:
        """Add numbers that are shown in one chart, each in a folder of its own under the run's.

        Args:
            main_tag: the chart's name.
            tag_scalar_dict: numbers by name.
            global_step: the step.
            walltime: seconds since 1970; default now.
        """
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            summary = scalar(main_tag, value)
            where = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if where not in self.all_writers:
                self.all_writers[where] = self._made(where)
            self.all_writers[where].add_summary(summary, global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: int | None = None,
                   walltime: float | None = None) -> None:
        """Add a tensor, with its shape and dtype.

        Raises:
            ValueError: for 2 GB or more, and a dtype that cannot be stored.
        """
        self._add(tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(self, tag: str, values: Any, global_step: int | None = None,
                      bins: str | int | Sequence[float] = "tensorflow", walltime: float | None = None,
                      max_bins: int | None = None) -> None:
        """Add the histogram of values.

        Args:
            tag: its name.
            values: an array or a tensor.
            global_step: the step.
            bins: ``"tensorflow"`` for edges that grow by 1.1, or what `numpy.histogram` takes.
            walltime: seconds since 1970; default now.
            max_bins: join bins until there are about so many.

        Raises:
            ValueError: for no values, and for values that lie in no bin.
        """
        edges = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(histogram(tag, values, edges, max_bins=max_bins), global_step, walltime)

    def add_histogram_raw(self, tag: str, min: float, max: float, num: int, sum: float, sum_squares: float,
                          bucket_limits: Any, bucket_counts: Any, global_step: int | None = None,
                          walltime: float | None = None) -> None:
        """Add a histogram that is computed already.

        Args:
            tag: its name.
            min: the least value.
            max: the largest value.
            num: the number of values.
            sum: their sum.
            sum_squares: the sum of their squares.
            bucket_limits: the upper edge of each bin.
            bucket_counts: the number of values in each bin.
            global_step: the step.
            walltime: seconds since 1970; default now.

        Raises:
            ValueError: where there are not as many edges as bins.
        """
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts),
                  global_step, walltime)

    def add_image(self, tag: str, img_tensor: Any, global_step: int | None = None,
                  walltime: float | None = None, dataformats: str = "CHW") -> None:
        """Add an image: bytes from 0 to 255, or other numbers from 0 to 1.

        Args:
            tag: its name.
            img_tensor: an array or a tensor; one channel is shown as grey.
            global_step: the step.
            walltime: seconds since 1970; default now.
            dataformats: a letter for each dimension: CHW, HWC, HW, WH and the like, or NCHW.

        Raises:
            AssertionError: for another number of dimensions than letters.
        """
        self._add(image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(self, tag: str, img_tensor: Any, global_step: int | None = None,
                   walltime: float | None = None, dataformats: str = "NCHW") -> None:
        """Add a batch of images as a grid: see `add_image`."""
        self._add(image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any, global_step: int | None = None,
                             walltime: float | None = None, rescale: float = 1, dataformats: str = "CHW",
                             labels: str | Sequence[str] | None = None) -> None:
        """Add an image with boxes ``(N, 4)``, from one corner to the other; needs the package pillow.

        Args:
            tag: its name.
            img_tensor: the image.
            box_tensor: the boxes.
            global_step: the step.
            walltime: seconds since 1970; default now.
            rescale: by what height and width are multiplied.
            dataformats: see `add_image`.
            labels: a text for each box; another number of texts is left out.
        """
        labels = [labels] if isinstance(labels, str) else labels
        if labels is not None and len(labels) != box_tensor.shape[0]:
            labels = None
        self._add(image_boxes(tag, img_tensor, box_tensor, rescale=rescale, dataformats=dataformats,
                              labels=labels),
                  global_step, walltime)

    def add_figure(self, tag: str, figure: Any, global_step: int | None = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """Add a figure of matplotlib, or a list of figures as a grid.

        Args:
            tag: its name.
            figure: the figure or figures.
            global_step: the step.
            close: whether they are closed.
            walltime: seconds since 1970; default now.
        """
        formats = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, figure_to_image(figure, close), global_step, walltime, dataformats=formats)

    def add_video(self, tag: str, vid_tensor: Any, global_step: int | None = None, fps: float = 4,
                  walltime: float | None = None) -> None:
        """Add films ``(N, T, C, H, W)``, side by side, as a GIF; needs the package pillow.

        Args:
            tag: its name.
            vid_tensor: bytes from 0 to 255, or other numbers from 0 to 1.
            global_step: the step.
            fps: frames in a second.
            walltime: seconds since 1970; default now.
        """
        self._add(video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(self, tag: str, snd_tensor: Any, global_step: int | None = None, sample_rate: int = 44100,
                  walltime: float | None = None) -> None:
        """Add sound ``(1, L)`` from -1 to 1; what is louder is cut.

        Args:
            tag: its name.
            snd_tensor: the samples.
            global_step: the step.
            sample_rate: samples in a second.
            walltime: seconds since 1970; default now.
        """
        self._add(audio(tag, snd_tensor, sample_rate=sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: int | None = None,
                 walltime: float | None = None) -> None:
        """Add a text, which is shown as Markdown."""
        self._add(text(tag, text_string), global_step, walltime)

    def add_onnx_graph(self, prototxt: Any) -> NoReturn:
        """NotImplementedError: there is no graph of a module."""
        _refuse_graph("SummaryWriter.add_onnx_graph")

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> NoReturn:
        """NotImplementedError: there is no graph of a module."""
        _refuse_graph("SummaryWriter.add_graph")

    def add_embedding(self, mat: Any, metadata: Sequence[Any] | None = None, label_img: Any = None,
                      global_step: int | None = None, tag: str = "default",
                      metadata_header: Sequence[str] | None = None) -> None:
        """Add points for the projector, as files beside the event file.

        Args:
            mat: the points, ``(N, D)``.
            metadata: a label for each, or a row of labels.
            label_img: an image for each, ``(N, C, H, W)``.
            global_step: the step; default 0.
            tag: their name.
            metadata_header: names of the columns of labels.

        Raises:
            AssertionError: for another number of labels or images than points, and points of another
                dimension than two.
            NotADirectoryError: where there is a file in place of the folder.
        """
        points = make_np(mat)
        if metadata is not None and len(points) != len(metadata):
            raise AssertionError("#labels should equal with #data points")
        if label_img is not None and len(points) != label_img.shape[0]:
            raise AssertionError("#images should equal with #data points")
        if points.ndim != 2:
            raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
        step = 0 if global_step is None else global_step
        name = tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")
        below = f"{str(step).zfill(5)}/{name}"
        folder = os.path.join(self._get_file_writer().get_logdir(), below)
        if os.path.isdir(folder):
            print("warning: Embedding dir exists, did you set global_step for add_embedding()?",
                  file=sys.stdout)
        elif os.path.exists(folder):
            raise NotADirectoryError(f"Path: `{folder}` exists, but is a file. Cannot proceed.")
        os.makedirs(folder, exist_ok=True)
        if metadata is not None:
            make_tsv(metadata, folder, metadata_header=metadata_header)
        if label_img is not None:
            make_sprite(label_img, folder)
        make_mat(points, folder)
        self._projector_config.embeddings.append(get_embedding_info(metadata, label_img, below, step, tag))
        write_pbtxt(self._get_file_writer().get_logdir(), str(self._projector_config))

    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: int | None = None,
                     num_thresholds: int = 127, weights: Any = None, walltime: float | None = None) -> None:
        """Add a curve of precision over recall.

        Args:
            tag: its name.
            labels: 0 or 1 for each example.
            predictions: from 0 to 1 for each example.
            global_step: the step.
            num_thresholds: the number of thresholds, at most 127.
            weights: of the examples.
            walltime: seconds since 1970; default now.
        """
        self._add(pr_curve(tag, make_np(labels), make_np(predictions), num_thresholds, weights), global_step,
                  walltime)

    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
                         true_negative_counts: Any, false_negative_counts: Any, precision: Any, recall: Any,
                         global_step: int | None = None, num_thresholds: int = 127, weights: Any = None,
                         walltime: float | None = None) -> None:
        """Add a curve of precision over recall that is computed already, a number for each threshold."""
        self._add(pr_curve_raw(tag, true_positive_counts, false_positive_counts, true_negative_counts,
                               false_negative_counts, precision, recall, num_thresholds, weights),
                               global_step,
                  walltime)

    def add_custom_scalars_multilinechart(self, tags: Sequence[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """Add a chart of several tags: see `add_custom_scalars`."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags: Sequence[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """Add a chart of a tag between two others: see `add_custom_scalars`."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout: dict[str, dict[str, list]]) -> None:
        """Add charts of several tags of numbers; once in a run.

        Args:
            layout: by category, by the chart's title, ``["Multiline", tags]`` or
                ``["Margin", [value, lower, upper]]``.
        """
        self._add(custom_scalars(layout))

    def add_mesh(self, tag: str, vertices: Any, colors: Any = None, faces: Any = None,
                 config_dict: dict | None = None, global_step: int | None = None,
                 walltime: float | None = None) -> None:
        """Add points in space, or triangles.

        Args:
            tag: their name.
            vertices: coordinates ``(B, N, 3)``.
            colors: of the points, ``(B, N, 3)``.
            faces: triangles as numbers of points, ``(B, F, 3)``.
            config_dict: what is given to three.js.
            global_step: the step.
            walltime: seconds since 1970; default now.
        """
        self._add(mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def flush(self) -> None:
        """Nothing waits to be written."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Close the files; what is added later goes into new ones."""
        writers = self.all_writers or {}
        for writer in writers.values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
