import Foundation
import MiniRex

extension LiveGraph {
  /// Draws in the language of Graphviz what is subscribed to what.
  func write(to file: String) throws(SystemError) {
    do {
      try Data(dot().utf8).write(to: URL(filePath: file))
    } catch {
      throw SystemError()
    }
  }
}
