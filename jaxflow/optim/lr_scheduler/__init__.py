"""Learning-rate schedules: plain Python numbers written into an optimizer's groups."""

from ._base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from ._base import LRScheduler as LRScheduler
from ._base import _LRScheduler as _LRScheduler
from ._composed import ChainedScheduler as ChainedScheduler
from ._composed import SequentialLR as SequentialLR
from ._cyclic import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from ._cyclic import CyclicLR as CyclicLR
from ._cyclic import OneCycleLR as OneCycleLR
from ._factors import ConstantLR as ConstantLR
from ._factors import CosineAnnealingLR as CosineAnnealingLR
from ._factors import ExponentialLR as ExponentialLR
from ._factors import LambdaLR as LambdaLR
from ._factors import LinearLR as LinearLR
from ._factors import MultiplicativeLR as MultiplicativeLR
from ._factors import MultiStepLR as MultiStepLR
from ._factors import PolynomialLR as PolynomialLR
from ._factors import StepLR as StepLR
from ._plateau import ReduceLROnPlateau as ReduceLROnPlateau
