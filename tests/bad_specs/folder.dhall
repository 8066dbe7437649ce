./parts
