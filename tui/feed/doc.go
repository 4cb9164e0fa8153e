// Package feed has the goroutines of the control room. They read the city's streams, carry out effects and hand the
// terminal to other programs. Results go through a Mailbox to the model, which this package does not know.
package feed
