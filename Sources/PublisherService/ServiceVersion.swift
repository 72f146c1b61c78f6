/// The version of the running program.
public enum ServiceVersion {
    public static let text = "0.1.0"
}
