/** A certificate of its own making for `good.test`, and the key to it: a stage property, valid for a century. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUC+7YVAMHg+o/4a41imepn+Y5rkwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJZ29vZC50ZXN0MCAXDTI2MTEyOTE5NDk1NVoYDzIxMjYxMTA1
MTk0OTU1WjAUMRIwEAYDVQQDDAlnb29kLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARvlhT6OwRlkEG350wQSqrwC3pxj5VoUKViYKannMfoFZKZjBYI4Irl
IlkmHXh3aCXNQwNQximA+1Nbb1jZ9Voao2kwZzAdBgNVHQ4EFgQUXKHdduwqrNVg
HKhutcBhDrX/7B8wHwYDVR0jBBgwFoAUXKHdduwqrNVgHKhutcBhDrX/7B8wDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglnb29kLnRlc3QwCgYIKoZIzj0EAwID
SQAwRgIhAOyj1NPQxPnIst1kjB6QiJnLknmAt33qc7UeXUDwv5ezAiEAsfi1vzak
/k4JQkGPM3avz+InAKXAVAYaaD0NabPdidE=
-----END CERTIFICATE-----
`;
export const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3JR5nJ/wn5vvdBEH
ilHrGqDjOEOrBvEP6MsEAwB+w6ChRANCAARvlhT6OwRlkEG350wQSqrwC3pxj5Vo
UKViYKannMfoFZKZjBYI4IrlIlkmHXh3aCXNQwNQximA+1Nbb1jZ9Voa
-----END PRIVATE KEY-----
`;
