import TestSupport
import Testing

/// The tests of the store rules, in extensions.
@Suite(.light) struct StoreContractTests {}
