dtinfo finfo --style torch torch.half chalf cfloat cdouble
