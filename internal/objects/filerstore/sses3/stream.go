package sses3

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
)

const ivSize = aes.BlockSize

// stream is an unwrapped key and where its counter begins.
type stream struct {
	key [keySize]byte
	iv  [ivSize]byte
}

// xor encrypts or decrypts p, which lies at the given byte of the stream.
func (s *stream) xor(p []byte, at int64) {
	block, err := aes.NewCipher(s.key[:])
	if err != nil {
		// The length of the key is all that it could object to.
		panic(err)
	}
	iv := s.counter(at / ivSize)
	ctr := cipher.NewCTR(block, iv[:])
	var before [ivSize]byte
	skip := before[:at%ivSize]
	ctr.XORKeyStream(skip, skip)
	ctr.XORKeyStream(p, p)
}

// counter is the counter n blocks on: a number of 128 bits, as AES counts.
func (s *stream) counter(n int64) (iv [ivSize]byte) {
	low, carry := bits.Add64(be(s.iv[8:]), uint64(n), 0)
	high, _ := bits.Add64(be(s.iv[:8]), 0, carry)
	binary.BigEndian.PutUint64(iv[8:], low)
	binary.BigEndian.PutUint64(iv[:8], high)
	return iv
}

func be(b []byte) uint64 { return binary.BigEndian.Uint64(b) }
