// One import also provides the smaller modules.
@_exported public import MiniRexFoundationAdapters
