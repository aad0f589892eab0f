// Package array reads and writes the columns of data files of version 2.0 (whose footer
// says 0.3 or 2.0): trees of array encodings become Arrow arrays, and are made of them.
//
// # Columns
//
// Every node of the schema has a column, parents included; a packed struct, a
// blob, a dictionary and a fixed-size list of primitives are leaves and have one.
// A list's column holds the ends of the lists, and its pages count lists; the
// pages of its item's columns count items. A struct's own column holds nothing:
// in 2.0 no struct is null, and validity that a writer had for one is lost.
//
// # Pages
//
// A page is one tree of encodings, whose leaves name a buffer of the page, of
// the column or of the file:
//
//	nullable            nothing, a bitmap, or all is null
//	flat                values of one width; its buffer may be compressed as a whole
//	bitpacked           values with the upper bits cut off, one behind the other
//	bitpacked-non-neg   the same in transposed blocks of 1024
//	binary              u64 ends and bytes; the end of a null has null_adjustment added
//	fsst                a binary of compressed strings
//	fixed-size-binary   strings that all have one length
//	dictionary          keys and items; where the field is no dictionary itself, key 0
//	                    is null and key k stands for item k-1
//	fixed-size-list     dimension × items
//	packed-struct       the fields' values row by row
//	constant            one value for all rows
//	list                ends of lists, as in binary
//
// A blob column (of the first kind) is a packed struct of position and size. It
// is handed out as it is stored: (1, 0) stands for null, (0, 0) for an empty value.
//
// # Reading
//
// A Read asks for bytes in rounds: what is known from the metadata first, then
// what the ends of lists and strings tell. Only what the rows need is fetched, but
// for compressed buffers and dictionaries, which are fetched whole, and the last
// of them kept for the next Read: at most one page's per column, and no more than
// the limit of the Read that decoded it.
//
// Values that lie in the fetched bytes as Arrow wants them are not copied.
//
// # Writing
//
// Pages are what Lance makes of the same values, byte for byte, but for what is compressed and for dictionaries: every release that
// reads version 2.0 reads them. Values of one width are flat, those of strings binary; a page of 100 strings and more, of fewer than
// 100 different ones, is a dictionary (of string alone, not of binary and large_string). Strings are compressed when the field's
// metadata wishes it and it helps. Nothing is bit-packed.
//
// Version 2.0 can't tell that a struct is null; packed structs hold no strings, booleans, lists of a varying size or nulls; items of fixed-size
// lists are of one width; a dictionary has no more items, null being one, than its keys count: all of it is refused with
// column.ErrUnsupported, like maps.
//
// Keep takes rows out of a page without decoding its values: what is as wide as its neighbours, and strings with their ends, are gathered
// under the same tree of encodings.
package array
