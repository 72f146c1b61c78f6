/// The headers of a record that was put back on its lane.
public enum RedriveHeader {
    /// The one platform it is for: what the others had was settled the first time.
    public static let platform = "nw-platform"
}
