"""Trainer of lightning: callbacks, a log, metrics, checkpoints, and a run that goes on from one."""

import csv
import logging
import pathlib
import warnings

import lightning
import torch
import torchmetrics
from fixed import fill, normal
from lightning.pytorch import callbacks
from lightning.pytorch.loggers import CSVLogger

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Rows(lightning.LightningDataModule):
    """Rows for training, validation and the test."""

    def rows(self, count, seed):
        x = normal(count, 8, seed=seed)
        pairs = torch.utils.data.TensorDataset(x, x[:, :3].argmax(-1))
        return torch.utils.data.DataLoader(pairs, batch_size=8)

    def train_dataloader(self):
        return self.rows(64, 3)

    def val_dataloader(self):
        return self.rows(24, 4)

    def test_dataloader(self):
        return self.rows(24, 5)

    def predict_dataloader(self):
        return self.rows(8, 6)


class Classifier(lightning.LightningModule):
    """A perceptron; ``manual`` says whether it takes its steps itself."""

    def __init__(self, width=16, rate=0.02, manual=False):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = not manual
        self.net = fill(torch.nn.Sequential(torch.nn.Linear(8, width), torch.nn.ReLU(),
                                            torch.nn.Linear(width, 3)))
        self.example_input_array = torch.zeros(2, 8)
        self.metrics = torchmetrics.MetricCollection({
            "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=3),
            "f1": torchmetrics.F1Score(task="multiclass", num_classes=3, average="macro"),
            "area": torchmetrics.AUROC(task="multiclass", num_classes=3)})

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, at):
        loss = torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("loss", loss, on_step=False, on_epoch=True)
        if not self.automatic_optimization:
            optimizer = self.optimizers()
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
        return loss

    def validation_step(self, batch, at):
        out = self(batch[0])
        self.metrics.update(out.softmax(-1), batch[1])
        self.log("val_loss", torch.nn.functional.cross_entropy(out, batch[1]), prog_bar=True)

    def on_validation_epoch_end(self):
        self.log_dict(self.metrics.compute())
        self.metrics.reset()

    def test_step(self, batch, at):
        self.log("test_loss", torch.nn.functional.cross_entropy(self(batch[0]), batch[1]))

    def predict_step(self, batch, at):
        return self(batch[0]).argmax(-1)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), self.hparams.rate)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)}


def trainer_of(name, epochs, *called, **options):
    return lightning.Trainer(max_epochs=epochs, accelerator="cpu", devices=1,
                             logger=CSVLogger("logs", name, 0), callbacks=list(called),
                             enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=1,
                             default_root_dir="root", **options)


def logged(name):
    """What CSVLogger wrote."""
    with open(f"logs/{name}/version_0/metrics.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            print({k: round(float(v), 4) for k, v in sorted(row.items()) if v})


lightning.seed_everything(1, verbose=False)
kept = callbacks.ModelCheckpoint("kept", "{epoch}", monitor="val_loss", save_top_k=2, save_last=True)
stop = callbacks.EarlyStopping("val_loss", patience=2, min_delta=0.05)
trainer = trainer_of("first", 6, kept, stop, callbacks.LearningRateMonitor(), gradient_clip_val=1.0,
                     accumulate_grad_batches=2)
trainer.fit(Classifier(), datamodule=Rows())
logged("first")
print(trainer.current_epoch, trainer.global_step, stop.stopped_epoch)
print(sorted(p.name for p in pathlib.Path("kept").iterdir()))
print(f"{kept.best_model_score:.4f}", pathlib.Path(kept.best_model_path).name)
(tested,) = trainer.test(ckpt_path="best", datamodule=Rows(), verbose=False)
print({k: round(v, 4) for k, v in tested.items()})
print(torch.cat(trainer.predict(datamodule=Rows(), ckpt_path="best")).tolist())
loaded = Classifier.load_from_checkpoint(kept.last_model_path)
print(dict(loaded.hparams), f"{sum(p.abs().sum() for p in loaded.parameters()).item():.4f}")

trainer = trainer_of("second", 8)
trainer.fit(Classifier(), datamodule=Rows(), ckpt_path="kept/last.ckpt")
logged("second")
print(trainer.current_epoch, trainer.global_step)

trainer = trainer_of("third", 2, precision="bf16-mixed")
trainer.fit(Classifier(), datamodule=Rows())
print(trainer.global_step, round(float(trainer.callback_metrics["loss"]), 1))

trainer = trainer_of("fourth", 2, limit_train_batches=4)
trainer.fit(Classifier(manual=True), datamodule=Rows())
logged("fourth")

trainer = trainer_of("fifth", 4, callbacks.StochasticWeightAveraging(0.01, swa_epoch_start=2))
trainer.fit(Classifier(), datamodule=Rows())
logged("fifth")
print(lightning.pytorch.utilities.model_summary.ModelSummary(Classifier(), max_depth=-1))

fabric = lightning.Fabric(accelerator="cpu", devices=1)
net = Classifier()
net, optimizer = fabric.setup(net.net, torch.optim.SGD(net.net.parameters(), 0.1))
for x, y in fabric.setup_dataloaders(Rows().train_dataloader()):
    loss = torch.nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    fabric.backward(loss)
    optimizer.step()
    print(f"{loss.item():.4f}")
fabric.save("fabric.ckpt", {"net": net, "optimizer": optimizer, "step": 8})
print(fabric.load("fabric.ckpt", {"net": net, "optimizer": optimizer}))
