/** What a page's relay and the worker agree on. */

/** The name of the ports between them. */
export const RELAY = 'relay';

/** The longest text that a page may say, in characters. However it is written, it fits into one message to the daemon. */
export const LONGEST = 10 * 1024 * 1024;
