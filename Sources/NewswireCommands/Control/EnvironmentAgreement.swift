package import EditorialControl

/// What the settings say about the hub's environment, beside what the control topic says. A process that disagrees with it does
/// not start.
package enum EnvironmentAgreement: Sendable, Hashable {
    /// Neither names one.
    case unnamed
    /// The topic does not say it yet: `newswire topics --create` writes it, or the first process that starts.
    case unwritten(HubEnvironment)
    case agreed(HubEnvironment)
    case disagreed(ours: HubEnvironment?, theirs: HubEnvironment)

    package init(ours: HubEnvironment?, theirs: HubEnvironment?) {
        self =
            switch (ours, theirs) {
            case (nil, nil): .unnamed
            case (let ours?, nil): .unwritten(ours)
            case (let ours, let theirs?): ours == theirs ? .agreed(theirs) : .disagreed(ours: ours, theirs: theirs)
            }
    }
}
