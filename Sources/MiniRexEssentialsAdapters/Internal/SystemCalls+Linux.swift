// System calls that Swift's import of the C library omits, looked up by name. A call is `nil` in a
// library that lacks it.
#if !canImport(Darwin)
package import CLibrary

package enum SystemCall {
  typealias Pipe2 = @Sendable @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32
  typealias Preadv2 =
    @Sendable @convention(c) (Int32, UnsafePointer<iovec>, Int32, off_t, Int32) -> Int
  package typealias AddPath =
    @Sendable @convention(c) (
      UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>
    ) -> Int32
  package typealias AddNumber =
    @Sendable @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

  static let pipe2 = unsafe find("pipe2", as: Pipe2.self)
  static let preadv2 = unsafe find("preadv2", as: Preadv2.self)
  package static let addFolder = unsafe find(
    "posix_spawn_file_actions_addchdir_np", as: AddPath.self)
  package static let addCloseFrom = unsafe find(
    "posix_spawn_file_actions_addclosefrom_np", as: AddNumber.self)

  /// `O_PATH`, which has this value on all processors that Swift supports.
  static let withoutReading: Int32 = 0o10_000_000

  /// `RWF_NOWAIT`: the read fails with `EAGAIN` instead of blocking.
  static let withoutWaiting: Int32 = 8

  private static func find<Call>(_ name: String, as call: Call.Type) -> Call? {
    unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: call) }
  }
}
#endif
