// Whoever transfers also decodes, and imports one module for both.
@_exported public import MiniRexFoundationAdapters
