#if NATS
import Foundation
import TestSupport

/// A key pair made by `openssl`, of a user by default.
///
/// NATS writes it in base 32: a prefix, the key, and a checksum.
struct NKey {
  let publicKey: String
  let seed: String
  private let folder: Folder

  var seedFile: String { folder.path("seed") }

  enum Owner: UInt8 {
    case account = 0
    case `operator` = 112
    case user = 160
  }

  init(of owner: Owner = .user) async throws {
    folder = try Folder()
    let status = try await run(
      """
      set -e
      cd "$0"
      openssl genpkey -algorithm ed25519 -outform DER -out private
      openssl pkey -inform DER -in private -pubout -outform DER -out public
      """, folder.url.path)
    if status != 0 { throw POSIXError(.EIO) }
    // The key is the end of its container.
    let secret = try Data(contentsOf: folder.file("private")).suffix(32)
    let known = try Data(contentsOf: folder.file("public")).suffix(32)
    let (seed, kind): (UInt8, UInt8) = (18 << 3, owner.rawValue)
    publicKey = spelled([kind] + known)
    self.seed = spelled([seed | kind >> 5, (kind & 31) << 3] + secret)
    try folder.write(
      "-----BEGIN USER NKEY SEED-----\n\(self.seed)\n------END USER NKEY SEED------\n", to: "seed")
  }

  /// Returns a JWT in which the owner of this key signs another key.
  func token(for key: NKey, _ claims: String) async throws -> String {
    let body =
      #"{"iss":"\#(publicKey)","sub":"\#(key.publicKey)","jti":"1","iat":1,"nats":\#(claims)}"#
    let text = [#"{"typ":"JWT","alg":"ed25519-nkey"}"#, body]
      .map { Data($0.utf8).spelledInBase64 }.joined(separator: ".")
    try folder.write(text, to: "text")
    let status = try await run(
      #"cd "$0" && openssl pkeyutl -sign -rawin -keyform DER -inkey private -in text -out signature"#,
      folder.url.path)
    if status != 0 { throw POSIXError(.EIO) }
    return text + "." + (try Data(contentsOf: folder.file("signature"))).spelledInBase64
  }
}

extension Data {
  fileprivate var spelledInBase64: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
      "=", with: "")
  }
}

private func spelled(_ bytes: [UInt8]) -> String {
  var checksum: UInt16 = 0
  for byte in bytes {
    checksum ^= UInt16(byte) << 8
    for _ in 0..<8 {
      checksum = checksum & 0x8000 == 0 ? checksum << 1 : checksum << 1 ^ 0x1021
    }
  }
  let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
  var (text, bits, count) = ("", UInt32(0), 0)
  for byte in bytes + [UInt8(checksum & 0xFF), UInt8(checksum >> 8)] {
    bits = bits << 8 | UInt32(byte)
    count += 8
    while count >= 5 {
      count -= 5
      text.append(letters[Int(bits >> UInt32(count) & 31)])
    }
    bits &= (1 << UInt32(count)) - 1
  }
  if count > 0 { text.append(letters[Int(bits << UInt32(5 - count) & 31)]) }
  return text
}
#endif
