// What is below comes with the same import.
@_exported public import MiniRexDispatchAdapters
