import Testing

/// The tests of the store rules, in extensions.
@Suite(.timeLimit(.minutes(20))) struct StoreContractTests {}
