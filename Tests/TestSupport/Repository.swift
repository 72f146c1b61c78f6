package import Foundation

/// The checkout from which the tests were built.
package let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
