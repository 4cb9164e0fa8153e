// Command gcity keeps a declared city of terminal agents alive and shows it.
package main

func main() {}
