// Package sses3 reads and makes what the S3 gateway encrypts with SSE-S3: keys
// that the cluster manages, AES-256 in counter mode over the bytes.
//
// Each object has a data key. It is stored with the object and with each of
// its chunks, wrapped by the cluster's one key encryption key (KEK), together
// with the initial counter (IV) and a commitment that binds the two. The KEK
// comes from where the gateway has it: s3.sse.kek or s3.sse.key of the security
// configuration, or the filers' File.
//
// Weed's own key manager is not linked in, only tested against, in both
// directions: it lives in the package of the whole gateway, whose import alone
// takes the signals of the process, and it rewrites an old File, waits long for
// one that can't be read, and does without one when no filer answers. A process
// that maintains tables has to change nothing and to be certain.
package sses3

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/util"
)

// ErrKeys is returned when the KEK is missing, contradictory or not the one
// that an object was encrypted under, and when an object's key is damaged. To those who know
// nothing of keys it is a denial, which concerns the whole table and not just the object.
var ErrKeys error = denial("SSE-S3 key")

type denial string

func (d denial) Error() string { return string(d) }

// Denied tells what kind of error it is; package session asks for it.
func (d denial) Denied() {}

// Where filers keep the KEK of a cluster that has none in its configuration.
const (
	FileDir  = "/etc/s3"
	FileName = "sse_kek"
	file     = FileDir + "/" + FileName
)

// keySize is that of all keys, in bytes.
const keySize = 32

// The names in the security configuration; each can be set in the environment,
// too, as weed's settings can.
const (
	settingKEK        = "s3.sse.kek"
	settingKey        = "s3.sse.key"
	settingPassphrase = "s3.sse.kek.passphrase"
	settingCommitment = "s3.require_key_commitment"

	// passphraseEnv is looked at, too, where the setting of the KEK hides that of
	// its passphrase.
	passphraseEnv = "WEED_S3_SSE_KEK_PASSPHRASE"
)

// settings is the part of the security configuration that tells the KEK.
type settings struct {
	// kek in hex, or a secret to derive it from.
	kek, key string
	// passphrase unwraps the KEK in the File.
	passphrase string
	// commitment: refuse keys that are stored without one.
	commitment bool
}

func configured() settings {
	v := util.GetViper()
	s := settings{
		kek: v.GetString(settingKEK), key: v.GetString(settingKey),
		passphrase: v.GetString(settingPassphrase), commitment: v.GetBool(settingCommitment),
	}
	if s.passphrase == "" {
		s.passphrase = os.Getenv(passphraseEnv)
	}
	return s
}

// File is the filers' File.
type File struct {
	Exists  bool
	Content []byte
}

// Load resolves the KEK from the security configuration of this process and
// the filers' File. Without any, the Keys it returns refuse everything.
func Load(f File) (*Keys, error) { return load(configured(), f) }

func load(s settings, f File) (*Keys, error) {
	kek, err := s.resolve(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return &Keys{kek: kek, commitment: s.commitment, filed: kek != nil && f.Exists}, nil
}

// resolve finds the KEK, nil when there is none.
func (s settings) resolve(f File) (kek []byte, err error) {
	if s.kek != "" && s.key != "" {
		return nil, fmt.Errorf("only one of %s and %s may be set", settingKEK, settingKey)
	}
	var stored []byte
	if f.Exists {
		if stored, err = s.fromFile(f.Content); err != nil {
			return nil, fmt.Errorf("the filer's %s: %w", file, err)
		}
	}
	switch {
	case s.kek != "":
		if kek, err = fromHex(s.kek); err != nil {
			return nil, fmt.Errorf("%s: %w", settingKEK, err)
		}
		if stored != nil && string(stored) != string(kek) {
			return nil, fmt.Errorf("%s is not the key in the filer's %s", settingKEK, file)
		}
		return kek, nil
	case s.key != "":
		if stored != nil {
			return nil, fmt.Errorf("%s can't be used while the filer has %s", settingKey, file)
		}
		return hkdf.Key(sha256.New, []byte(s.key), nil, "seaweedfs-sse-s3-kek", keySize)
	default:
		return stored, nil
	}
}

// The two forms of a wrapped KEK, in base64: magic, salt, nonce and sealed
// key; and, from before salts were random, nonce and sealed key alone.
const (
	wrapMagic  = "SWv2"
	wrapSalt   = 32
	legacySalt = "seaweedfs-sse-s3-kek-wrapping-v1"
	wrapInfo   = "kek-wrapping"
)

// fromFile is the KEK in the File: wrapped under the passphrase, or in hex.
func (s settings) fromFile(content []byte) ([]byte, error) {
	text := strings.TrimSpace(string(content))
	if text == "" {
		return nil, errors.New("it is empty")
	}
	if s.passphrase == "" {
		return fromHex(text)
	}
	kek, err := unwrapKEK(text, s.passphrase)
	if err != nil {
		// It may be older than the passphrase.
		if plain, failure := fromHex(text); failure == nil {
			return plain, nil
		}
		return nil, fmt.Errorf("unwrapping it with %s: %w", settingPassphrase, err)
	}
	return kek, nil
}

func fromHex(text string) ([]byte, error) {
	key, err := hex.DecodeString(text)
	if err != nil {
		// The error of package hex quotes the text, which is a secret.
		return nil, errors.New("not in hex")
	}
	return sized(key)
}

func sized(key []byte) ([]byte, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("a key of %d bytes, want %d", len(key), keySize)
	}
	return key, nil
}

func unwrapKEK(text, passphrase string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("not in base64")
	}
	salt, sealed := legacySalt, raw
	if rest, ok := strings.CutPrefix(string(raw), wrapMagic); ok && len(rest) > wrapSalt {
		salt, sealed = rest[:wrapSalt], []byte(rest[wrapSalt:])
	}
	wrapping, err := hkdf.Key(sha256.New, []byte(passphrase), []byte(salt), wrapInfo, keySize)
	if err != nil {
		return nil, err
	}
	kek, err := openAfter(wrapping, sealed)
	if err != nil {
		return nil, err
	}
	return sized(kek)
}
