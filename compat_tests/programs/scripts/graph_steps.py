"""PyTorch Geometric: losses of training steps of its convolutions on a random graph, by weights of NumPy."""

import torch
from fixed import fill, integers, normal
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GAT, GCN, GIN, GraphSAGE, global_add_pool
from torch_geometric.utils import coalesce, to_undirected

edges = to_undirected(coalesce(integers(30, 2, 90)))
graph = Data(x=normal(30, 8), edge_index=edges, y=integers(4, 30, seed=3))
print(graph, graph.has_isolated_nodes(), graph.has_self_loops(), graph.is_undirected())
for kind in (GCN, GAT, GraphSAGE, GIN):
    for jumping in (None, "cat"):
        net = fill(kind(8, 16, num_layers=2, out_channels=4, dropout=0.0, jk=jumping))
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=5e-4)
        for _ in range(4):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(graph.x, graph.edge_index), graph.y)
            loss.backward()
            optimizer.step()
            print(kind.__name__, f"{loss.item():.4f}")

several = Batch.from_data_list([
    Data(x=normal(5 + i, 8, seed=i), edge_index=coalesce(integers(5, 2, 12, seed=i))) for i in range(4)])
net = fill(GIN(8, 16, num_layers=3, out_channels=2, dropout=0.0))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
for _ in range(4):
    optimizer.zero_grad()
    out = global_add_pool(net(several.x, several.edge_index), several.batch)
    loss = torch.nn.functional.cross_entropy(out, integers(2, 4))
    loss.backward()
    optimizer.step()
    print("GIN of graphs", f"{loss.item():.4f}")
