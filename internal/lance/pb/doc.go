// Package pb holds the protobuf messages of the Lance format as Go types,
// generated from the .proto files beside it. Names and numbers are the
// format's; the protobuf package name is our own, so that a program may link
// another module's Lance messages beside these.
//
// Decoding keeps fields that the files here do not name, and encoding writes
// them out again: a table written by a newer Lance loses nothing.
package pb

//go:generate protoc --go_out=. --go_opt=paths=source_relative array.proto file.proto layout.proto table.proto transaction.proto
