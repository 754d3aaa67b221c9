// One import also provides the smaller module.
@_exported public import MiniRexDispatchAdapters
