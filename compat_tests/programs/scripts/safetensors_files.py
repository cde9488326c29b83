"""Files of safetensors: saved, loaded, read in part, and the bytes of them."""

import hashlib

import torch
from fixed import fill, integers, normal
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model

tensors = {"f32": normal(3, 4), "f64": normal(2).double(), "i64": integers(9, 5),
           "i32": integers(9, 2, 2).int(), "u8": integers(200, 7).to(torch.uint8),
           "bool": integers(2, 6).bool(), "bf16": normal(4).bfloat16(), "f16": normal(4).half(),
           "f8": normal(4).to(torch.float8_e4m3fn), "scalar": torch.tensor(2.5),
           "c64": torch.complex(normal(2), normal(2, seed=4)), "empty": torch.zeros(0, 3)}
save_file(tensors, "all.safetensors", metadata={"format": "pt"})
with open("all.safetensors", "rb") as file:
    print(hashlib.sha256(file.read()).hexdigest())
for key, tensor in sorted(load_file("all.safetensors").items()):
    print(key, tensor.dtype, tuple(tensor.shape), torch.equal(tensor.double(), tensors[key].double())
          if not tensor.is_complex() else torch.equal(tensor, tensors[key]))
with safe_open("all.safetensors", framework="pt", device="cpu") as opened:
    print(opened.metadata(), sorted(opened.keys()))
    part = opened.get_slice("f32")
    print(part.get_shape(), part.get_dtype(), part[1:3, ::2].tolist(), opened.get_tensor("i32").tolist())
print(sorted(load(save({"a": torch.arange(3)}))["a"].tolist()))

net = fill(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 4)))
net[2].weight = net[0].weight
save_model(net, "model.safetensors")
other = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 4))
other[2].weight = other[0].weight
print(load_model(other, "model.safetensors"))
print(torch.equal(other.eval()(normal(2, 4)), net.eval()(normal(2, 4))))
try:
    save_file({"a": net[0].weight, "b": net[2].weight}, "shared.safetensors")
except RuntimeError as error:
    print(type(error).__name__, "share memory" in str(error))
