# TODO(ada): Warn the harbor office above 3.80 m
# TODO: Let each boat owner choose a height
# TODO: Send no alert twice in one tide
# FIXME: An alert without a phone number raises an exception
