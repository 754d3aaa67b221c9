#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

// Sorted keys give equal states equal JSON, except for a `Set`.

package func makeEncoder() -> JSONEncoder {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  encoder.nonConformingFloatEncodingStrategy = .convertToString(
    positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
  return encoder
}

package func makeDecoder() -> JSONDecoder {
  let decoder = JSONDecoder()
  decoder.nonConformingFloatDecodingStrategy = .convertFromString(
    positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
  return decoder
}
