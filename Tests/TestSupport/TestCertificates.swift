/// Certificates for test servers, valid from 2020 to 2125, all from one authority that only tests trust. The keys
/// protect nothing.
package enum TestCertificates {
    package static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBgDCCASagAwIBAgICOAQwCgYIKoZIzj0EAwIwJjEkMCIGA1UEAwwbU2NyaXB0
        ZWQgaHViIHRlc3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjUxMjMx
        MDAwMDAwWjAmMSQwIgYDVQQDDBtTY3JpcHRlZCBodWIgdGVzdCBhdXRob3JpdHkw
        WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT+0zjN3VGrr0IROgXWiQCSCtqIfpOT
        CMBdIbdPx/KTwyNoh5GKOuGGD3hDyqEbPgzy+kcaCusZlcdskDAw/g+8o0IwQDAP
        BgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAdBgNVHQ4EFgQUfnT7xWP9
        rxdtBGXWI108X3Rl2McwCgYIKoZIzj0EAwIDSAAwRQIhAPmft9Cr9Tgh9gTB0vHW
        rLt6SWgZC1xzrM+Xe3GsZAFOAiAwsuNJ0A0tFAjpQLCgOcuVFTqHGZC6voGvUW94
        nueWcg==
        -----END CERTIFICATE-----
        """

    /// A certificate for `localhost` and 127.0.0.1.
    package static let localhost = """
        -----BEGIN CERTIFICATE-----
        MIIBujCCAV+gAwIBAgICDDUwCgYIKoZIzj0EAwIwJjEkMCIGA1UEAwwbU2NyaXB0
        ZWQgaHViIHRlc3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjUxMjMx
        MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAATqF6Bsf/pJiEHz6tEnOaT7ulBQ3LrmXZPEQaojFg/e4sonZG0etVcY
        hL7O6utNmYLvxaCvpEEtrwGrRgp/4Rjgo4GMMIGJMBoGA1UdEQQTMBGCCWxvY2Fs
        aG9zdIcEfwAAATAJBgNVHRMEAjAAMAsGA1UdDwQEAwIHgDATBgNVHSUEDDAKBggr
        BgEFBQcDATAdBgNVHQ4EFgQUuht0MTft24h69FFhdtK4soJdpjkwHwYDVR0jBBgw
        FoAUfnT7xWP9rxdtBGXWI108X3Rl2McwCgYIKoZIzj0EAwIDSQAwRgIhANzMNCmM
        XNq4EIMFtlt/rsLuCaLmUn/QMOBCT/j4ZOLBAiEAwkDSgeiNTtyny79UOeeadXYE
        rUNtAsdI1yNSieDP+qE=
        -----END CERTIFICATE-----
        """

    /// A certificate for `hub.elsewhere.example`.
    package static let elsewhere = """
        -----BEGIN CERTIFICATE-----
        MIIBwDCCAWWgAwIBAgICV60wCgYIKoZIzj0EAwIwJjEkMCIGA1UEAwwbU2NyaXB0
        ZWQgaHViIHRlc3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjUxMjMx
        MDAwMDAwWjAUMRIwEAYDVQQDDAllbHNld2hlcmUwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAATqF6Bsf/pJiEHz6tEnOaT7ulBQ3LrmXZPEQaojFg/e4sonZG0etVcY
        hL7O6utNmYLvxaCvpEEtrwGrRgp/4Rjgo4GSMIGPMCAGA1UdEQQZMBeCFWh1Yi5l
        bHNld2hlcmUuZXhhbXBsZTAJBgNVHRMEAjAAMAsGA1UdDwQEAwIHgDATBgNVHSUE
        DDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUuht0MTft24h69FFhdtK4soJdpjkwHwYD
        VR0jBBgwFoAUfnT7xWP9rxdtBGXWI108X3Rl2McwCgYIKoZIzj0EAwIDSQAwRgIh
        AI1DXsow3JKm+XXkSZaSSMMXeHQcxEwow+g5SfvqSa12AiEAuex7fePKJeRpAGDH
        mQZKHFmERuJRwiUGz6D4Kgx1gxI=
        -----END CERTIFICATE-----
        """

    /// A certificate for `localhost` and 127.0.0.1 that expired at the end of 2020.
    package static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBtjCCAVugAwIBAgICZCQwCgYIKoZIzj0EAwIwJjEkMCIGA1UEAwwbU2NyaXB0
        ZWQgaHViIHRlc3QgYXV0aG9yaXR5MB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTAw
        MDAwMFowEjEQMA4GA1UEAwwHZXhwaXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEH
        A0IABOoXoGx/+kmIQfPq0Sc5pPu6UFDcuuZdk8RBqiMWD97iyidkbR61VxiEvs7q
        602Zgu/FoK+kQS2vAatGCn/hGOCjgYwwgYkwGgYDVR0RBBMwEYIJbG9jYWxob3N0
        hwR/AAABMAkGA1UdEwQCMAAwCwYDVR0PBAQDAgeAMBMGA1UdJQQMMAoGCCsGAQUF
        BwMBMB0GA1UdDgQWBBS6G3QxN+3biHr0UWF20riygl2mOTAfBgNVHSMEGDAWgBR+
        dPvFY/2vF20EZdYjXTxfdGXYxzAKBggqhkjOPQQDAgNJADBGAiEAuuaSruCcw8XR
        zaVtoKMSJdNzc8IgJ5Fmw2iEK9sZlhgCIQCfcC0JALdapw/s4zadHYmLnSiENy12
        lQw1E6Yx8CjALA==
        -----END CERTIFICATE-----
        """

    /// A certificate for 127.0.0.1 without a name, from its own authority.
    package static let addressOnly = """
        -----BEGIN CERTIFICATE-----
        MIIBUTCB+KADAgECAgI4BTAKBggqhkjOPQQDAjAeMRwwGgYDVQQDDBNPbmx5IGZv
        ciBhbiBhZGRyZXNzMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjUxMjMxMDAwMDAwWjAe
        MRwwGgYDVQQDDBNPbmx5IGZvciBhbiBhZGRyZXNzMFkwEwYHKoZIzj0CAQYIKoZI
        zj0DAQcDQgAE6hegbH/6SYhB8+rRJzmk+7pQUNy65l2TxEGqIxYP3uLKJ2RtHrVX
        GIS+zurrTZmC78Wgr6RBLa8Bq0YKf+EY4KMkMCIwDwYDVR0RBAgwBocEfwAAATAP
        BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIGW59qS64Xh5AGX0n4Cl
        RuJDQ/HdnucPs4Cw6X/KVkg/AiEA05UrqqzbUTgj78Iqlc2C9ijB5nD+4iEGtDBB
        xCu9zQI=
        -----END CERTIFICATE-----
        """

    /// The private key of the servers.
    package static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgV8seap33iOshsfHj
        CiyfFIbu7QSqR4UOMyxU+tdj+FWhRANCAATqF6Bsf/pJiEHz6tEnOaT7ulBQ3Lrm
        XZPEQaojFg/e4sonZG0etVcYhL7O6utNmYLvxaCvpEEtrwGrRgp/4Rjg
        -----END PRIVATE KEY-----
        """
}
