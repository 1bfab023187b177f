/** Finds the program of this system among the optional packages of `tabmux`, and becomes it. */

const { accessSync, chmodSync, constants } = require('node:fs');

const program = find();
const words = process.argv.slice(2);
makeExecutable(program);
// Since Node.js 22.15. Without Node.js in between, a client costs 40 MB less memory.
if (process.execve) process.execve(program, [program, ...words], process.env);
else run(program, words);

function find() {
  const name = `@tabmux/${process.platform}-${process.arch}`;
  const found = [name, `${name}-musl`].flatMap((name) => {
    try {
      return [require.resolve(`${name}/tabmux`)];
    } catch {
      return [];
    }
  });
  if (found.length === 0) giveUp(name);
  // An installer that does not know the field `libc` installs both.
  return found.length > 1 && isMusl() ? found[1] : found[0];
}

function isMusl() {
  process.report.excludeNetwork = true;
  return !process.report.getReport().header.glibcVersionRuntime;
}

function giveUp(name) {
  console.error(
    `tabmux: the package ${name}, which has the program for this system, is not installed. ` +
      'If there is one for your system, install tabmux again without `--omit=optional`; ' +
      'if package-lock.json was written on another system, remove it and node_modules first. ' +
      'On any other Unix: cargo install --locked tabmux',
  );
  process.exit(1);
}

/** Some installers lose the mode of files. */
function makeExecutable(program) {
  try {
    accessSync(program, constants.X_OK);
  } catch {
    chmodSync(program, 0o755);
  }
}

/** Runs the program as a child, and ends as it ends. */
function run(program, words) {
  const child = require('node:child_process').spawn(program, words, { stdio: 'inherit' });
  // A terminal sends Ctrl+C to both.
  const isTerminal = require('node:tty').isatty(0);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
    process.on(signal, () => {
      const isSent = isTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT');
      if (!isSent) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`tabmux: ${program} does not run: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
