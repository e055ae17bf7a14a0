import { timingSafeEqual } from "node:crypto";
import { find, hash } from "./users.js";

/** The address of the person who logged in, or null where the address and the password don't belong together. */
export function login(email, password) {
  const user = find(email);
  if (user === null) return null;
  return timingSafeEqual(hash(password, user.salt), user.hash) ? user.email : null;
}
