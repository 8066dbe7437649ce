"use strict";
// Reloads the page of a build until the build is finished. (A refresh by a header would not reload an address with `#`.)
setTimeout(() => location.reload(), 1000);
