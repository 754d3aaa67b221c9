import BesideCombine

// Uses every name that the module exports, once at least, as a stranger would; the program stops at
// the first result that is not as the documentation says.

broadcasters()
publishedValues()
tokens()
await tokensInAsyncCode()
operators()
chains()
mainActor()
await actors()
kinds()
tasks()
time()
try await asyncCode()
try await watching()
try await stores()
try await storeTests()
let moved = MovingModel().twice()
expect(moved.old == [2, 3, 4] && moved.new == [2, 4, 4])
let beside = try await besideFoundation()
expect(beside == ["changed", #"{"key":1}"#, "1.0", "5", "1970", "6"])
print("The client found everything as documented.")
