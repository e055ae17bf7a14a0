import { randomBytes, scryptSync } from "node:crypto";

const users = new Map();

function normalise(email) {
  return email.trim().toLowerCase();
}

export function hash(password, salt) {
  return scryptSync(password, salt, 32);
}

export function register(email, password) {
  const address = normalise(email);
  if (users.has(address)) throw new Error(`${address} is registered already`);
  const salt = randomBytes(16);
  users.set(address, { email: address, salt, hash: hash(password, salt) });
}

export function find(email) {
  return users.get(email) ?? null;
}
