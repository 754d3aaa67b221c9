import Testing

/// One test or more for each rule, in the files that extend it.
@Suite(.timeLimit(.minutes(20))) struct StoreContractTests {}
