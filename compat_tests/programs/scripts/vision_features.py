"""Features of image models, by graphs of their code: ``vision_features.py name:size:node ...``.

torchvision traces the model, takes the nodes after the wanted one out, and the rest is trained for a step.
"""

import copy
import pickle
import sys

import compiled_part  # noqa: F401
import torch
from fixed import fill, normal
from torch import fx
from torch.fx.experimental.optimization import fuse
from torch.fx.passes.shape_prop import ShapeProp
from torchvision.models import get_model
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

for name in sys.argv[1:]:
    name, size, node = name.split(":")
    net = fill(get_model(name, num_classes=10)).eval()
    x = normal(1, 3, int(size), int(size))
    training, evaluation = get_graph_node_names(net)
    print(name, len(training), len(evaluation), *evaluation[-3:])
    features = create_feature_extractor(net, {node: "wanted"})
    features = pickle.loads(pickle.dumps(features)) if isinstance(features, fx.GraphModule) else features
    out = features(x)["wanted"]
    out.square().mean().backward()
    norm = sum(p.grad.abs().mean() for p in features.parameters() if p.grad is not None)
    print(tuple(out.shape), f"{out.abs().mean().item():.4g} {norm.item():.4g}")
    traced = fx.symbolic_trace(copy.deepcopy(net))
    ShapeProp(traced).propagate(x)
    print(traced.print_readable(print_output=False))
    fused = fuse(net)
    print(len(traced.graph.nodes), len(fused.graph.nodes), torch.allclose(fused(x), net(x), atol=1e-3))
