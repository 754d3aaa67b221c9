/// Says which delivery rule a publisher has broken; thrown, it fails a test of any framework with
/// its description.
///
/// ```text
/// R5 is broken: A subscriber gets exactly what is sent after it has subscribed.
/// Script: some subscribe after updates have come.
/// 'a' was called with 1, 2; expected: 2.
///
/// sent         1-2
/// a            -^(12)
/// ```
///
/// In the picture `^` is where somebody subscribes, `!` where they leave, and `|` the end.
public struct PublisherLawReport: Error, Equatable, CustomStringConvertible {
  /// The number that the rule has in the article *Delivery rules* of the module MiniRex, `R5` say.
  public let rule: String
  /// What was done when it was broken.
  public let script: String
  /// Rule, script, what came and what was expected, and a picture of all that happened.
  public let description: String

  init(_ broken: Broken, _ script: Script, _ trial: Trial) {
    rule = broken.law.name
    self.script = script.words
    let words = """
      \(rule) is broken: \(broken.law.words)
      Script: \(script.words)
      \(broken.words)
      """
    description = trial.log.picture.map { "\(words)\n\n\($0)" } ?? words
  }
}
