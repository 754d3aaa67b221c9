import MiniRex

// Each chain must type-check in less than 100 ms, the limit in the manifest.
//
// Closures that convert numbers name their parameter types: Swift fails to infer them in much shorter
// chains, also with arrays. Three overloads of `map` that differ by a constraint would exceed the
// limit as well.

package func twelve(of numbers: Broadcaster<Int>) -> Broadcaster<String> {
  numbers
    .map { $0 * 2 + 1 }
    .filter { $0 % 3 != 0 }
    .scan(0) { $0 + $1 }
    .map { (sum: Int) in Double(sum) / 4 }
    .removeDuplicates()
    .compactMap { $0 > 1 ? $0 - 0.5 : nil }
    .dropFirst(2)
    .map { (mean: Double) in Int(mean * 1.5) }
    .filter { $0 < 1_000_000 }
    .map { $0 * 10 }
    .prefix(3)
    .map { "\($0 + 1)" }
}

package func twelve(of number: PublishedValue<Double>) -> Broadcaster<String> {
  number
    .map { $0 * 2 }
    .removeDuplicates()
    .map { (size: Double) in Int(size) - 1 }
    .removeDuplicates { $0 == $1 }
    .map { $0 * 3 }
    .filter { $0 % 2 == 0 }
    .dropFirst()
    .scan(1) { (sum: Int, size: Int) in sum + size }
    .map { (sum: Int) in Double(sum) / 2 }
    .prefix(4)
    .compactMap { (half: Double) in half > 1 ? half - 0.5 : nil }
    .map { "half \($0)" }
}

package func several(
  _ width: PublishedValue<Int>, _ height: PublishedValue<Double>, _ depth: PublishedValue<Float>,
  scale: Broadcaster<Double>
) -> PublishedValue<String> {
  let area = combineLatest(width, height) { Double($0) * $1 }
  let volume = combineLatest(area, depth) { $0 * Double($1) }
  let numbers = merge(volume, scale, .sequence([1, 2.5]), height.map { $0 / 2 })
  return numbers.map { Int($0) * 2 }.publishedValue(initial: 0).map { "\($0 + 1)" }
}

package func latestTwelve(
  of text: PublishedValue<String>, scale: PublishedValue<Int>
) -> Broadcaster<String> {
  text
    .map { $0.count }
    .flatMapLatest { count in scale.map { $0 * count } }
    .removeDuplicates()
    .share()
    .map { $0 + 1 }
    .drop { $0 < 3 }
    .flatMapLatest { size in scale.map { $0 + size } }
    .withLatest(from: text)
    .map { size, text in size + text.count }
    .prefix { $0 < 1_000 }
    .share()
    .map { "\($0)" }
}
