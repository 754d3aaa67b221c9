/// The first delivery rule that a publisher broke, with a picture of the run.
///
/// Thrown from a test, it fails the test in any framework.
///
/// ```text
/// R5 is broken: A subscriber receives exactly the updates sent after it subscribes.
/// Script: subscribers join after the first update.
/// 'a' received 1, 2. Expected: 2.
///
/// sent         1-2
/// a            -^(12)
/// ```
///
/// In the picture, `^` is a subscription, `!` is its cancellation, and `|` is the end of the publisher.
public struct PublisherLawReport: Error, Equatable, CustomStringConvertible {
  /// The number of the rule in the article *Delivery rules* of the module MiniRex, for example `R5`.
  public let rule: String
  /// The script that broke the rule.
  public let script: String
  /// The rule, the script, and the difference, with a picture unless the run has too many events.
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
