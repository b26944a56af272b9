/** The text of `svc-server --help`, and of a command line that cannot be read. */
export const usage = `Usage: svc-server <command>

  start                    serve requests until SIGTERM, then drain
  check                    read the settings, open the store and close it again
  reset-password USERNAME  print a one-time link to set a new password for that account;
                           stop the server first, and start it again to use the link

The settings are read from the environment; the README lists them.
`;
