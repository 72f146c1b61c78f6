import ByteText
import Crypto
package import HubEmulator
import NIOSSL

/// A self-signed certificate with a new P-256 key. The DER of RFC 5280 is written by hand because it is short.
package struct SelfSignedCertificate {
    /// The certificate, for clients that must trust the server.
    package let pem: String
    package let keyPEM: String

    /// - Parameter host: a name or address besides `localhost` and the loopback addresses.
    package init(host: String, now: HubTime) throws {
        let key = P256.Signing.PrivateKey()
        var random = SystemRandomNumberGenerator()
        let serial =
            [0x40 | UInt8.random(in: 0..<0x40, using: &random)]
            + (0..<15).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let algorithm = DER.sequence(DER.oid([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
        let commonName = DER.sequence(DER.oid([0x55, 0x04, 0x03]), DER.item(0x0C, Array("newswire hub".utf8)))
        let name = DER.sequence(DER.item(0x31, commonName))
        let validity = DER.sequence(
            DER.time(now.advanced(byMilliseconds: -86_400_000)), DER.time(now.advanced(byMilliseconds: 90 * 86_400_000))
        )
        let authority = DER.sequence(
            DER.oid([0x55, 0x1D, 0x13]), DER.item(0x01, [0xFF]),
            DER.item(0x04, DER.sequence(DER.item(0x01, [0xFF]))))
        let names = DER.sequence(
            DER.oid([0x55, 0x1D, 0x11]), DER.item(0x04, DER.sequence(Self.names(host).flatMap { $0 })))
        let extensions = DER.item(0xA3, DER.sequence(authority + names))
        let signed = DER.sequence(
            DER.item(0xA0, DER.item(0x02, [2])), DER.item(0x02, serial), algorithm, name, validity, name,
            Array(key.publicKey.derRepresentation), extensions)
        let signature = try key.signature(for: signed)
        let certificate = DER.sequence(signed, algorithm, DER.item(0x03, [0] + Array(signature.derRepresentation)))
        pem = Self.pem(certificate)
        keyPEM = key.pemRepresentation
    }

    /// The TLS configuration of a server with this certificate.
    var configuration: TLSConfiguration {
        get throws {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))
            let key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
            return TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        }
    }

    /// The subject's names. DNS names have tag 2, addresses tag 7.
    private static func names(_ host: String) -> [[UInt8]] {
        var names = [
            DER.item(0x82, Array("localhost".utf8)), DER.item(0x87, [127, 0, 0, 1]),
            DER.item(0x87, Array(repeating: 0, count: 15) + [1]),
        ]
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        if parts.count == 4, !parts.contains(nil) {
            names.append(DER.item(0x87, parts.compactMap { $0 }))
        } else if !host.isEmpty, !host.contains(":"), host.utf8.allSatisfy({ $0 < 128 }) {
            names.append(DER.item(0x82, Array(host.utf8)))
        }
        return names
    }

    private static func pem(_ der: [UInt8]) -> String {
        var text = "-----BEGIN CERTIFICATE-----\n"
        var rest = Substring(Base64.encode(der))
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }
}

/// ASN.1 values in DER, X.690 §8.
private enum DER {
    static func item(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 128 { return [tag, UInt8(count)] + content }
        let digits = count < 256 ? [UInt8(count)] : [UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }

    static func sequence(_ items: [UInt8]...) -> [UInt8] { item(0x30, items.flatMap { $0 }) }

    static func oid(_ bytes: [UInt8]) -> [UInt8] { item(0x06, bytes) }

    /// A time in the form `YYMMDDHHMMSSZ`.
    static func time(_ time: HubTime) -> [UInt8] {
        let digits = time.description.filter(\.isNumber).dropFirst(2).prefix(12)
        return item(0x17, Array((digits + "Z").utf8))
    }
}
