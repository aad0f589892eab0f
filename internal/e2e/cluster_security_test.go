package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seaweedfs/seaweedfs/weed/util"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// jwtKeys are the four keys of a secured cluster. All clusters of the tests
// have the same, so that the client packages in this process can have them too:
// weed keeps them in one global configuration.
var jwtKeys = map[string]string{
	"jwt.signing":            "test key for volume server writes",
	"jwt.signing.read":       "test key for volume server reads",
	"jwt.filer_signing":      "test key for filer writes",
	"jwt.filer_signing.read": "test key for filer reads",
}

// kek is the key of all clusters that encrypt with SSE-S3, for the same reason.
const kek = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"

// setKeys gives this process the keys. A cluster without keys ignores tokens.
func setKeys() {
	util.GetViper().SetDefault("s3.sse.kek", kek)
	for section, key := range jwtKeys {
		util.GetViper().SetDefault(section+".key", key)
	}
}

// withKeys secures HTTP with the four JWT keys.
func withKeys(o cluster.Options) cluster.Options {
	var b strings.Builder
	for _, section := range []string{"jwt.signing", "jwt.signing.read", "jwt.filer_signing", "jwt.filer_signing.read"} {
		fmt.Fprintf(&b, "[%s]\nkey = %q\n", section, jwtKeys[section])
	}
	o.Security += b.String()
	return o
}

// withEncryption encrypts what volume servers store.
func withEncryption(o cluster.Options) cluster.Options {
	o.Flags = append(o.Flags, "-filer.encryptVolumeData")
	return o
}

// withKEK lets the S3 gateway encrypt, under the key that this process has.
func withKEK(o cluster.Options) cluster.Options {
	o.Security += fmt.Sprintf("[s3.sse]\nkek = %q\n", kek)
	return o
}

// withTLS secures gRPC between all components with certificates on both sides.
func withTLS(t *testing.T, o cluster.Options) cluster.Options {
	t.Helper()
	dir := t.TempDir()
	ca := newAuthority(t, dir)
	cert, key := ca.issue(t, dir, "weed")
	return withGRPC(o, ca, cert, key)
}

// withHTTPS is withTLS, and HTTPS for masters, filers and volume servers. It is
// for servers in processes of their own: a mini asks itself by HTTP whether it is
// ready. Clients in the test's process don't reach such volume servers.
func withHTTPS(t *testing.T, o cluster.Options) cluster.Options {
	t.Helper()
	dir := t.TempDir()
	ca := newAuthority(t, dir)
	cert, key := ca.issue(t, dir, "weed")
	o = withGRPC(o, ca, cert, key)
	o.Security += fmt.Sprintf("[https.client]\nenabled = true\nca = %q\ncert = %q\nkey = %q\n", ca.file, cert, key)
	for _, component := range []string{"master", "volume", "filer"} {
		o.Security += fmt.Sprintf("[https.%s]\nca = %q\ncert = %q\nkey = %q\n", component, ca.file, cert, key)
	}
	return o
}

func withGRPC(o cluster.Options, ca *authority, cert, key string) cluster.Options {
	var b strings.Builder
	fmt.Fprintf(&b, "[grpc]\nca = %q\n", ca.file)
	for _, component := range []string{"master", "volume", "filer", "s3", "admin", "worker", "client", "msg_broker", "mq"} {
		fmt.Fprintf(&b, "[grpc.%s]\ncert = %q\nkey = %q\n", component, cert, key)
	}
	o.Security += b.String()
	return o
}

// authority is a certificate authority for one test.
type authority struct {
	file string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour * 24),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{file: writePEM(t, filepath.Join(dir, "ca.crt"), "CERTIFICATE", der), cert: cert, key: key}
}

// issue makes a certificate that serves both ends of a connection.
func (a *authority) issue(t *testing.T, dir, name string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour * 24),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.ParseIP(cluster.Host)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, filepath.Join(dir, name+".crt"), "CERTIFICATE", der), writePEM(t, filepath.Join(dir, name+".key"), "PRIVATE KEY", keyDER)
}

func writePEM(t *testing.T, name, kind string, der []byte) string {
	t.Helper()
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
