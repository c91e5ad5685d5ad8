"""Settings for all tests."""

import torch

# small tensors, and often several test runs on few cores: threads would only wait for each other
torch.set_num_threads(1)
