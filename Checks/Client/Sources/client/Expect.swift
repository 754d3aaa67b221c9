func expect(_ isTrue: Bool, file: StaticString = #fileID, line: UInt = #line) {
  if !isTrue { fatalError("this is not as documented", file: file, line: line) }
}
