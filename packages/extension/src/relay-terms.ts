/** Constants that a page's relay and the worker share. */

/** The name of the ports between them. */
export const RELAY = 'relay';

/** The longest message of a page, in characters. In any encoding it fits into one message to the daemon. */
export const LONGEST = 10 * 1024 * 1024;
