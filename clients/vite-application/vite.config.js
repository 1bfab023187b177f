/** The one line that the development server needs. */

export default { optimizeDeps: { exclude: ['@tabmux/page'] } };
