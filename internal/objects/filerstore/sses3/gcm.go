package sses3

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
)

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal encrypts plain under a new nonce.
func seal(key, plain []byte) (nonce, sealed []byte, err error) {
	gcm, err := newGCM(key)
	if err != nil {
		return nil, nil, err
	}
	nonce = make([]byte, gcm.NonceSize())
	rand.Read(nonce)
	return nonce, gcm.Seal(nil, nonce, plain, nil), nil
}

func open(key, nonce, sealed []byte) ([]byte, error) {
	gcm, err := newGCM(key)
	if err != nil {
		return nil, err
	}
	if len(nonce) != gcm.NonceSize() {
		return nil, fmt.Errorf("a nonce of %d bytes, want %d", len(nonce), gcm.NonceSize())
	}
	return gcm.Open(nil, nonce, sealed, nil)
}

// openAfter decrypts what follows its nonce.
func openAfter(key, sealed []byte) ([]byte, error) {
	const nonce = 12
	if len(sealed) < nonce {
		return nil, errors.New("too short")
	}
	return open(key, sealed[:nonce], sealed[nonce:])
}
