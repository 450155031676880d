"""Models as ONNX graphs: hand-written formulas in double precision, so that the labels stay ours."""
